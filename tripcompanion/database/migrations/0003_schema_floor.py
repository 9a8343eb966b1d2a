from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('kit', '0002_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='SchemaFloor',
            fields=[
                ('app', models.CharField(max_length=255, primary_key=True, serialize=False)),
                ('migration', models.CharField(max_length=255)),
            ],
        ),
    ]
